/** The build sets these. */
declare const SVC_VERSION: string;
