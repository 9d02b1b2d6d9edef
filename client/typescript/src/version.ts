/** The version of this client. */
export const VERSION = "0.2.0";
