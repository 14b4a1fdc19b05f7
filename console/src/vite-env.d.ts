interface ImportMetaEnv {
  /** Where the catalogues of messages are, below the base address. Set by messages/plugin.ts. */
  readonly MESSAGES: string
}
