import { ErrorText } from "../parts/states";
import { Mark } from "./Mark";

export function SignIn() {
  const wasTried = new URLSearchParams(window.location.search).get("link") === "over";
  return (
    <section className="sign-in">
      <Mark />
      <h1>Sign in</h1>
      {wasTried && <ErrorText>That link was used before, or is older than 15 minutes.</ErrorText>}
      <p>
        The service prints a link that signs you in once. Look where it was started, or ask whoever
        started it, for a line like this:
      </p>
      <pre tabIndex={0}>{window.location.origin}/sign-in?token=…</pre>
      <p>Open that link in this browser. It works once, within 15 minutes.</p>
      <p className="quiet">
        Programs use keys instead: they send <code>Authorization: Bearer</code> and their key with every
        request.
      </p>
      <p>
        <button type="button" onClick={() => window.location.assign("/")}>
          I have opened it: try again
        </button>
      </p>
    </section>
  );
}
