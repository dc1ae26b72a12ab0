import { lazy, Suspense, useEffect } from "react";
import { change, href, Link, useAddress } from "../../frame/router";
import { useCall, useFrame } from "../../frame/session";
import { line } from "../../parts/format";
import { Empty, Failed, Waiting } from "../../parts/states";
import { spanOf } from "./reads";
import { View } from "./view";
import "./dashboards.css";

const Editor = lazy(() => import("./edit"));

/** Board shows one dashboard, or edits it. The window of the address wins; without one it is that of the dashboard. */
export default function Board({ id }: { id: string }) {
  const { org } = useFrame();
  const address = useAddress();
  const found = useCall("DashboardsService/GetDashboard", { id });
  const board = found.data;
  const bare = !address.searchParams.has("from");
  useEffect(() => {
    document.title = `${line(board?.name ?? "Dashboard", 80)} · ${org.name} · svc`;
  }, [board?.name, org.name]);
  useEffect(() => {
    if (!board || !bare) return;
    const span = spanOf(board.timeRange);
    change({ from: span.from, to: span.to === "now" ? null : span.to }, true);
  }, [board, bare]);
  if (found.error && !board) {
    return found.error.status === 404 ? (
      <Empty title="There is no such dashboard">
        <p>It was deleted, or it belongs to another organization.</p>
        <Link className="button" href={href("/dashboards")}>
          All dashboards
        </Link>
      </Empty>
    ) : (
      <Failed error={found.error} retry={() => found.refetch()} />
    );
  }
  if (!board || bare) return <Waiting lines={10} />;
  return address.searchParams.get("edit") === "1" ? (
    <Suspense fallback={<Waiting lines={10} />}>
      <Editor stored={board} />
    </Suspense>
  ) : (
    <View board={board} />
  );
}
