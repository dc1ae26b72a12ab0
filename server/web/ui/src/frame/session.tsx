import {
  keepPreviousData,
  useMutation,
  type UseMutationResult,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from "@tanstack/react-query";
import { createContext, useContext } from "react";
import { type AnswerOf, type ApiError, call, type Procedure, type RequestOf } from "../api/client";
import { iso, type Span, type Window } from "../parts/time";
import type { Session, SessionOrganization } from "../gen/api";

/** What every page knows: the person, the organization of the path, the environment, and the window. */
export type Frame = {
  me: Session;
  org: SessionOrganization;
  env: string;
  span: Span;
  window: Window;
  now: number;
  refresh: () => void;
};

export const FrameContext = createContext<Frame | null>(null);

export function useFrame(): Frame {
  const frame = useContext(FrameContext);
  if (!frame) throw new Error("a page outside of the frame");
  return frame;
}

/** times are the window of a page as the API takes it. */
export const times = (w: Window): { startTime: string; endTime: string } => ({ startTime: iso(w.start), endTime: iso(w.end) });

export type Called<P extends Procedure> = UseQueryResult<AnswerOf<P>, ApiError>;

/** useCall calls a method for the page. Old data stay while new ones load; leaving the page stops the call. */
export function useCall<P extends Procedure>(
  procedure: P,
  request: RequestOf<P>,
  options: { enabled?: boolean; every?: number; keep?: boolean } = {},
): Called<P> {
  const { org } = useFrame();
  return useQuery<AnswerOf<P>, ApiError>({
    queryKey: [org.id, procedure, request],
    queryFn: ({ signal }) => call(procedure, request, { org: org.id ?? "", signal }),
    enabled: options.enabled ?? true,
    ...(options.keep === false ? {} : { placeholderData: keepPreviousData as never }),
    ...(options.every ? { refetchInterval: options.every } : {}),
  });
}

export type Acted<P extends Procedure> = UseMutationResult<AnswerOf<P>, ApiError, RequestOf<P>>;

/** useAct calls a method that changes something. Afterwards every call of the page is asked again. */
export function useAct<P extends Procedure>(procedure: P, done?: (answer: AnswerOf<P>, request: RequestOf<P>) => void): Acted<P> {
  const { org } = useFrame();
  const client = useQueryClient();
  return useMutation<AnswerOf<P>, ApiError, RequestOf<P>>({
    mutationFn: (request) => call(procedure, request, { org: org.id ?? "" }),
    onSuccess: async (answer, request) => {
      done?.(answer, request);
      await client.invalidateQueries({ queryKey: [org.id] });
    },
  });
}
