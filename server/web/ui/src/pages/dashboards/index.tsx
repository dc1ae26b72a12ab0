import { lazy } from "react";
import List from "./list";

const Templates = lazy(() => import("./templates"));
const Board = lazy(() => import("./board"));
const Versions = lazy(() => import("./versions"));

/** Dashboards are the list, the templates, one dashboard and its versions. */
export default function Dashboards({ id, part }: { id: string; part: string }) {
  if (id === "") return <List />;
  if (id === "templates") return <Templates />;
  return part === "versions" ? <Versions key={id} id={id} /> : <Board key={id} id={id} />;
}
