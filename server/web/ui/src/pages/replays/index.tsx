import { useEffect } from "react";
import { useFrame } from "../../frame/session";
import { line } from "../../parts/format";
import { Replays } from "./list";
import { Replay } from "./session";
import "../../parts/lists.css";
import "../home.css";
import "./replays.css";

/** ReplayPages lists the sessions of visitors, and shows one with its events and traces in the order of time. */
export default function ReplayPages({ id }: { id: string }) {
  const { org } = useFrame();
  useEffect(() => {
    document.title = `${id ? line(id, 40) : "Replays"} · ${org.name} · svc`;
  }, [org.name, id]);
  return id ? <Replay id={id} /> : <Replays />;
}
