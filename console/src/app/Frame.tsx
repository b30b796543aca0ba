import { useEffect, useRef, type ReactNode } from "react";
import { Messages } from "../parts/messages";
import { UnseenBadge } from "../reviews/unseen";
import { AccountMenu } from "./AccountMenu";
import { Mark } from "./Mark";
import { Link } from "./router";
import { screensOf, useMe } from "./session";

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
                  {screen.path === "/releases" && <UnseenBadge />}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <AccountMenu />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {children}
      </main>
      <Messages />
    </div>
  );
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
