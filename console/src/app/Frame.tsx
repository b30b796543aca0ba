import { useEffect, useRef, useState, type ReactNode } from "react";
import { asRefusal, post } from "../api/client";
import { Messages, say } from "../parts/messages";
import { Mark } from "./Mark";
import { Link } from "./router";
import { screensOf, useMe } from "./session";
import { applyTheme, chosenTheme, type Theme } from "./theme";

/** Every page: the name of the product, the screens, who is signed in, and the page itself. */
export function Frame({ path, children }: { path: string; children: ReactNode }) {
  const me = useMe();
  const main = useRef<HTMLElement>(null);
  useHeadingFocus(path, main);
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <header className="top">
        <Link to="/" className="home">
          <Mark />
        </Link>
        <nav aria-label="Screens">
          <ul>
            {screensOf(me).map((screen) => (
              <li key={screen.path}>
                <Link to={screen.path} aria-current={path.startsWith(screen.path) ? "page" : undefined}>
                  {screen.name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div className="who">
          <span className="who-name" title={me.roles.join(", ")}>
            {me.name}
            <small>{me.roles.join(", ")}</small>
          </span>
          <ThemeChoice />
          <button type="button" className="small" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      <Messages />
    </div>
  );
}

async function signOut(): Promise<void> {
  try {
    await post("/me:sign-out");
    window.location.assign("/");
  } catch (error) {
    say(asRefusal(error).message);
  }
}

/** After a change of page, what reads the screen aloud begins at its heading. */
function useHeadingFocus(path: string, main: { current: HTMLElement | null }): void {
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    window.scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [path, main]);
}

function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  function choose(value: Theme): void {
    setTheme(value);
    applyTheme(value);
  }
  return (
    <label className="theme">
      <span className="hidden">Colours</span>
      <select value={theme} onChange={(event) => choose(event.target.value as Theme)}>
        <option value="system">As the system</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
