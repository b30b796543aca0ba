/** The name of the product, with its sign. */
export function Mark() {
  return (
    <span className="mark">
      <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
        <rect width="32" height="32" rx="7" className="mark-ground" />
        <path d="M9 8h14v3H9zm0 6.5h9v3H9zM9 21h6v3H9z" className="mark-lines" />
        <path d="m18 22 2.6 2.6L26 19" className="mark-tick" />
      </svg>
      Policy engine
    </span>
  );
}
