import { useLoading } from "../api/loading";
import { setQuery, useQuery } from "../app/router";
import { Shown } from "../parts/states";
import { latestOf, open } from "./opened";
import { Workbench } from "./Workbench";

export default function PolicyPage({ id }: { id: string }) {
  const asked = useQuery().get("version") ?? "";
  const { loaded, reload } = useLoading(`${id} ${asked}`, (signal) => open(id, asked, signal));
  return (
    <Shown loaded={loaded} what="the policy" retry={reload}>
      {(opened) => (
        <Workbench
          key={`${opened.version.number} ${opened.policy.revision} ${opened.etag}`}
          opened={opened}
          reload={reload}
          show={(number) => setQuery({ version: number === latestOf(opened.policy).number ? "" : String(number) })}
        />
      )}
    </Shown>
  );
}
