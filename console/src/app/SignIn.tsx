import { useEffect, useState } from "react";
import { get } from "../api/client";
import { ErrorText } from "../parts/states";
import { Mark } from "./Mark";

export function SignIn() {
  const query = new URLSearchParams(window.location.search);
  const wasTried = query.get("link") === "over";
  const wasRefused = query.get("provider") === "refused";
  const provider = useProvider();
  return (
    <section className="sign-in">
      <Mark />
      <h1>Sign in</h1>
      {wasTried && <ErrorText>That link was used before, or is older than 15 minutes.</ErrorText>}
      {wasRefused && (
        <ErrorText>Nobody was signed in: an administrator has to let in who you are there.</ErrorText>
      )}
      {provider !== "" && (
        <p>
          <a className="button primary" href="/sign-in/provider">Sign in at {provider}</a>
        </p>
      )}
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

/** Where else people sign in; empty as long as that is not known, or where it is nowhere. */
function useProvider(): string {
  const [provider, setProvider] = useState("");
  useEffect(() => {
    const controller = new AbortController();
    get<{ provider: string }>("/sign-in", controller.signal)
      .then((ways) => setProvider(ways.provider))
      .catch(() => undefined);
    return () => controller.abort();
  }, []);
  return provider;
}
