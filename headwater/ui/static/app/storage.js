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
