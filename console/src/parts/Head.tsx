import { useEffect, type ReactNode } from "react";

interface Props {
  title: string;
  about?: ReactNode;
  children?: ReactNode;
}

/** The head of a page: its name, which is the window's too, what it is for, and what can be done. */
export function Head({ title, about, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Policy engine`;
  }, [title]);
  return (
    <div className="page-head">
      <div>
        <h1>{title}</h1>
        {about !== undefined && <p>{about}</p>}
      </div>
      <div className="actions">{children}</div>
    </div>
  );
}
