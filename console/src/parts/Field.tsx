import { useId, type ReactNode } from "react";

interface Given {
  id: string;
  "aria-describedby": string;
}

interface Props {
  label: string;
  hint: string;
  children: (given: Given) => ReactNode;
}

/** A field of a form with its name above and what to know about it below. */
export function Field({ label, hint, children }: Props) {
  const id = useId();
  const about = `${id}-about`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": about })}
      <p id={about} className="fine">
        {hint}
      </p>
    </div>
  );
}
