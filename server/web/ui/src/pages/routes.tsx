import { lazy, type ReactNode } from "react";
import { Empty } from "../parts/states";
import { href, Link } from "../frame/router";
import { Home } from "./home";

const Start = lazy(() => import("./start"));
const Services = lazy(() => import("./services"));
const Service = lazy(() => import("./service"));
const ServiceMap = lazy(() => import("./map"));
const Traces = lazy(() => import("./traces"));
const Trace = lazy(() => import("./trace"));
const Logs = lazy(() => import("./logs"));
const Errors = lazy(() => import("./errors"));
const Metrics = lazy(() => import("./metrics"));
const Events = lazy(() => import("./events"));
const Agents = lazy(() => import("./agents"));
const Replays = lazy(() => import("./replays"));
const Settings = lazy(() => import("./settings"));
const Sql = lazy(() => import("./sql"));
const Alerts = lazy(() => import("./alerts"));
const Dashboards = lazy(() => import("./dashboards"));
const Incidents = lazy(() => import("./incidents"));
const Difference = lazy(() => import("./incidents/difference"));
const Investigations = lazy(() => import("./investigations"));

/** page is the page at a path below the organization. */
export function page(path: string): ReactNode {
  const parts = path.split("/").map(decode);
  const [first = "", second = "", third = ""] = parts;
  switch (first) {
    case "":
      return <Home />;
    case "start":
      return <Start />;
    case "services":
      return second ? <Service key={second} name={second} /> : <Services />;
    case "map":
      return <ServiceMap />;
    case "traces":
      return second ? <Trace key={second} id={second} /> : <Traces />;
    case "logs":
      return <Logs />;
    case "errors":
      return <Errors id={second} />;
    case "metrics":
      return <Metrics />;
    case "events":
      return <Events part={second} />;
    case "agents":
      return <Agents part={second} />;
    case "replays":
      return <Replays id={second} />;
    case "settings":
      return <Settings key={second} part={second} />;
    case "sql":
      return <Sql />;
    case "alerts":
      return <Alerts path={parts.slice(1)} />;
    case "dashboards":
      return <Dashboards id={second} part={third} />;
    case "incidents":
      return <Incidents />;
    case "difference":
      return <Difference />;
    case "investigations":
      return <Investigations id={second} />;
    default:
      return (
        <Empty title="There is no such page">
          <p>
            <Link href={href("")}>Home</Link>
          </p>
        </Empty>
      );
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
