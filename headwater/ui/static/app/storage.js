// What this browser remembers. A browser that forbids storage throws at each use; it remembers nothing.

/**
 * @param {string} key
 * @returns {string | null}
 */
export function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/**
 * @param {string} key
 * @param {string} value
 */
export function store(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Forbidden or full.
  }
}

/**
 * Remove everything but the entries of these keys: names that one user saw are not for the next.
 * @param {string[]} kept
 */
export function forget(kept) {
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith("headwater."));
    for (const key of keys) if (!kept.includes(key)) localStorage.removeItem(key);
  } catch {
    // Forbidden.
  }
}
