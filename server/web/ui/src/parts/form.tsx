import { type ReactNode, useId } from "react";
import type { ApiError } from "../api/client";

/** The error of a form belongs to one field when the API names it, as `rule.threshold` or `threshold`. */
export function errorOf(error: ApiError | null | undefined, name: string): string {
  const param = error?.param ?? "";
  return param === name || param.endsWith(`.${name}`) || param.startsWith(`${name}[`) || param.startsWith(`${name}.`)
    ? (error?.message ?? "")
    : "";
}

/** Field labels one control and shows its error. The control gets `id`, `aria-describedby` and `aria-invalid`. */
export function Field({
  label,
  hint,
  error = "",
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: string;
  children: (control: { id: string; "aria-describedby": string | undefined; "aria-invalid": true | undefined }) => ReactNode;
}) {
  const id = useId();
  const described = error || hint ? `${id}-about` : undefined;
  return (
    <div className="formfield">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": described, "aria-invalid": error ? true : undefined })}
      {described && (
        <p id={described} className={error ? "bad" : "faint"}>
          {error || hint}
        </p>
      )}
    </div>
  );
}

/** FormError shows an error that belongs to no field of the form. */
export function FormError({ error, fields = [] }: { error: ApiError | null | undefined; fields?: string[] }) {
  if (!error || fields.some((f) => errorOf(error, f))) return null;
  return (
    <p className="bad" role="alert">
      {error.message}
      {error.requestId && <span className="faint"> (request {error.requestId})</span>}
    </p>
  );
}
