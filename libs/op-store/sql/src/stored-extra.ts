/** Whether a stored `extra` is what it must be, on every SQL database: the JSON text of an object. */
export function isObjectText(text: string): boolean {
  // A text that begins like an object and is JSON is one.
  if (!text.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
