// The texts of service levels and of the gaps of inventories; texts.js has `t`.

export const SERVICE_LEVEL_TEXTS = {
  "levels.title": "Service levels",
  "levels.caption": "{count} service {count|level|levels} of the last 30 days",
  "levels.level": "level",
  "levels.value": "value",
  "levels.target": "target",
  "levels.least": "at least {target}",
  "levels.most": "at most {target}",
  "levels.budget": "budget left",
  "levels.burn": "burn rate",
  "levels.state": "state",
  "levels.ok": "ok",
  "levels.risk": "at risk",
  "levels.missed": "missed",
  "levels.unknown": "no data",

  "gaps.title": "Listed by an inventory, without lineage",
  "gaps.caption": "{shown} of {count} {count|asset|assets} that nobody sends lineage for",
  "gaps.type": "type",
  "gaps.owners": "owners",
  "gaps.inventories": "inventories",
  "gaps.none": "None.",
  "gaps.none.hint": "`headwater inventory import` lists what exists: a file, a database, a catalogue, a dbt project.",
};
