import { useEffect, useId, useRef, useState } from "react";
import { asRefusal, post } from "../api/client";
import { say } from "../parts/messages";
import { useMe } from "./session";
import { applyTheme, chosenTheme, type Theme } from "./theme";

/** Who is signed in: a button that opens what concerns that person alone. Escape closes it. */
export function AccountMenu() {
  const me = useMe();
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useClosing(isOpen, whole, button, () => setOpen(false));
  return (
    <div className="account" ref={whole}>
      <button
        ref={button}
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-label={`${me.name}: account`}
        onClick={() => setOpen(!isOpen)}
      >
        <span className="account-name">{me.name}</span>
        <svg viewBox="0 0 12 12" className="account-open" aria-hidden="true">
          <path d="M1.5 4 6 8.5 10.5 4" />
        </svg>
      </button>
      <div id={id} className="account-panel" hidden={!isOpen}>
        <div>
          <strong>{me.name}</strong>
          <p className="fine">{me.roles.join(", ") || "no role yet"}</p>
          {me.party !== "" && <p className="fine">{me.party}</p>}
        </div>
        <ThemeChoice />
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </div>
  );
}

interface Place<T> {
  current: T | null;
}

/** Closes what is open by Escape, which leads back to the button, or once anything else is used. */
function useClosing(isOpen: boolean, whole: Place<HTMLElement>, button: Place<HTMLElement>, close: () => void): void {
  useEffect(() => {
    if (!isOpen) return;
    function leave(event: Event): void {
      if (!(event.target instanceof Node) || !whole.current?.contains(event.target)) close();
    }
    function escape(event: KeyboardEvent): void {
      if (event.key !== "Escape") return;
      close();
      button.current?.focus();
    }
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    document.addEventListener("keydown", escape);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
      document.removeEventListener("keydown", escape);
    };
    // `close` is made anew by every render, and always means the same.
  }, [isOpen, whole, button]);
}

async function signOut(): Promise<void> {
  try {
    await post("/me:sign-out");
    window.location.assign("/");
  } catch (error) {
    say(asRefusal(error).message);
  }
}

function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  function choose(value: Theme): void {
    setTheme(value);
    applyTheme(value);
  }
  return (
    <label className="field">
      <span>Colours</span>
      <select value={theme} onChange={(event) => choose(event.target.value as Theme)}>
        <option value="system">As the system</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
