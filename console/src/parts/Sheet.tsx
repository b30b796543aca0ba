import { useEffect, useRef, type ReactNode } from "react";

interface Props {
  title: string;
  close: () => void;
  children: ReactNode;
}

/** A question in front of the page: the browser's own dialogue, which Escape closes. */
export function Sheet({ title, close, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    const opener = document.activeElement;
    if (element && !element.open) element.showModal();
    return () => {
      element?.close();
      // it may be out of the page by now, and the browser then gives the focus to nobody
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} aria-label={title} onCancel={close} onClose={close}>
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}
