"""Labelled texts for measuring the redaction: each value of personal data is known, made with a
seed, and so are the numbers that only look like one."""

from __future__ import annotations

import random
from dataclasses import dataclass

_SENTENCES = (
    "Payment to {} failed on row 18.",
    "customer said: {}",
    "Could not parse value {}, expected a date",
    "contact={}; status=open",
    "Rejected ({}) because of the limit.",
    "{}",
)
_LENGTHS = {"DE": 22, "NL": 18, "GB": 22, "FR": 27, "NO": 15, "ES": 24, "PL": 28}
_LETTERS_FIRST = {"NL", "GB"}
_PHONES = (
    "+49 30 90182{:04d}", "+1 212 555 {:04d}", "+44 20 7946 {:04d}", "+33 1 42 68 53 {:02d}",
    "+41 44 668 18 {:02d}", "+31 20 794 {:04d}",
)  # fmt: skip


@dataclass(frozen=True)
class Labelled:
    """A text, and the value of personal data in it; "" without one."""

    text: str
    kind: str
    value: str


def labelled_texts(seed: int, count: int = 200) -> list[Labelled]:
    """Return texts with values of each class, and as many with numbers that are none."""
    chance = random.Random(seed)
    makers = {"iban": _iban, "ssn": _ssn, "phone": _phone, "": _harmless}
    return [
        Labelled(chance.choice(_SENTENCES).format(value), kind, value if kind else "")
        for kind, make in makers.items()
        for value in (make(chance) for _ in range(count if kind else 3 * count))
    ]


def _iban(chance: random.Random) -> str:
    country = chance.choice(sorted(_LENGTHS))
    length = _LENGTHS[country] - 4
    bank = "".join(chance.choices("ABCDEFGHKLM", k=4)) if country in _LETTERS_FIRST else ""
    account = bank + "".join(chance.choices("0123456789", k=length - len(bank)))
    digits = "".join(str(int(one, 36)) for one in f"{account}{country}00")
    iban = f"{country}{98 - int(digits) % 97:02d}{account}"
    if chance.random() < 0.5:
        return iban
    return " ".join(iban[at : at + 4] for at in range(0, len(iban), 4))


def _ssn(chance: random.Random) -> str:
    area = chance.choice([one for one in range(1, 900) if one != 666])
    mark = chance.choice("- ")
    return f"{area:03d}{mark}{chance.randint(1, 99):02d}{mark}{chance.randint(1, 9999):04d}"


def _phone(chance: random.Random) -> str:
    pattern = chance.choice(_PHONES)
    text = pattern.format(chance.randint(0, 99 if ":02d" in pattern else 9999))
    return text.replace(" ", chance.choice(["", " ", "-"])) if chance.random() < 0.5 else text


def _harmless(chance: random.Random) -> str:
    """Return an id, a date, a hash, an amount, or a value with a wrong check digit."""
    iban = _iban(chance).replace(" ", "")
    wrong = f"{iban[:-1]}{(int(iban[-1]) + 1) % 10}"
    return chance.choice(
        [
            wrong,
            f"{chance.choice(['000', '666', '900', '987'])}-{chance.randint(1, 99):02d}-1234",
            f"{chance.randint(1, 899):03d}-00-{chance.randint(1, 9999):04d}",
            f"2026-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}",
            f"{chance.getrandbits(128):032x}",
            f"+{chance.randint(1, 99)}.{chance.randint(0, 99):02d}",
            f"build 1.{chance.randint(0, 99)}.{chance.randint(0, 9999)}",
            f"{chance.randint(10**8, 10**9)}",
            f"part-{chance.randint(0, 99999):05d}-{chance.getrandbits(32):08x}",
        ]
    )


# Drawn from lists of their own: a third of the first names is not among the rules.
_FIRST = [
    "Ana",
    "Petra",
    "John",
    "Mohammed",
    "Olga",
    "Rajesh",
    "Ingrid",
    "José",
    "Katarzyna",
    "Luca",
    "Sophie",
    "Thomas",
    "Yusuf",
    "Emma",
    "Carlos",
    "Chidi",
    "Nneka",
    "Siobhan",
    "Thabo",
    "Xiulan",
    "Oluwaseun",
    "Ngozi",
    "Mairead",
    "Kwame",
    "Aoife",
]
_LAST = [
    "Silva",
    "Lang",
    "Kennedy",
    "Okafor",
    "O'Brien",
    "Kowalski",
    "Müller",
    "Sørensen",
    "García-López",
    "Patel",
    "Nguyen",
    "Rossi",
    "Smith",
    "Dubois",
    "Yılmaz",
    "Novák",
    "Andersson",
    "Haddad",
    "Tanaka",
    "Botha",
]
_WITH_NAMES = (
    "Payment by {} was refused", "customer {} not found", "name: {}", "Dear {}, your order is late",
    "Row 12 of {} has no e-mail", "contact={}; status=open", "{} called twice", "signed by {} today",
    "Ask {} before a change.", "Duplicate entry '{}' for key 2",
)  # fmt: skip
_TITLED = ("Mr {last}", "Frau Dr. {first} {last}", "Mrs. {first} {last}", "Dr. {last}")
_PLAIN = (
    "{first} {last}",
    "{first} {last}",
    "{first} {last}",
    "{first} M. {last}",
    "{last}, {first}",
)
_WITHOUT_NAMES = (
    "Customer Data Platform failed", "Jordan Valley Airport is closed", "Apache Spark stopped the Job",
    "Table Orders Daily was not found", "See Charlotte Office for details", "Google Cloud Storage said no",
    "New York City and San Francisco", "customer Loyalty Program 2026", "Monday Morning Report", "Mean Time To Repair",
    "org.apache.Spark Context was Shut Down", "Failed Stage Retry Policy", "Victoria Station, London",
    "name: Daily Sales", "The Exception was thrown by Executor Lost", "contact=Data Team", "Summer Sale in Austin Texas",
    "Virginia Region (US East)", "Null Pointer in Hash Join", "Black Friday Discount", "Sort Merge Join", "Red Hat Linux",
    "Deutsche Bank Frankfurt", "Order Id, Customer Id", "Unity Catalog Volume", "Delta Lake", "Mark Column as Deleted",
)  # fmt: skip


def texts_with_names(seed: int, count: int = 400) -> list[Labelled]:
    """Return texts with names of persons, a fifth of them after a title."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        form = chance.choice(_TITLED if chance.random() < 0.2 else _PLAIN)
        name = form.format(first=chance.choice(_FIRST), last=chance.choice(_LAST))
        found.append(Labelled(chance.choice(_WITH_NAMES).format(name), "name", name))
    return found


def texts_without_names() -> list[Labelled]:
    """Return texts whose capitalised words are no names of persons."""
    return [Labelled(text, "", "") for text in _WITHOUT_NAMES]
