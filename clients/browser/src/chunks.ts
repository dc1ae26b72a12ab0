// The interface between the core and the parts that load later. Core and part may be of different builds in a cache: keep it stable.

/** Recorded is one part of a recording, as JSON texts of its events. */
export interface Recorded {
  events: string[];
  checkpoint: boolean;
  duration: number;
}

export interface ReplayHost {
  maskAllInputs: boolean;
  maskAllText: boolean;
  /** Keep the last minute only, until `release` is called. */
  buffered: boolean;
  clean(url: string): string;
  warn(text: string): void;
  spend(began: number, ended: number): void;
  /** Takes a part. It is compressed and sent by the core. */
  chunk(r: Recorded): void;
  /** The recording ended by itself. */
  ended(reason: string): void;
}

export interface Replay {
  /** Sends what is kept, and everything after it. */
  release(): void;
  snapshot(): void;
  flush(): void;
  stop(): void;
}

export interface ReplayModule {
  startReplay(host: ReplayHost): Replay;
  storedGzip(text: string): Uint8Array;
}

export interface VitalsModule {
  watchVitals(report: (name: string, value: number, rating: string) => void): void;
}
