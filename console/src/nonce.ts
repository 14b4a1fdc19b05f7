/**
 * The Content-Security-Policy allows style elements only with the nonce of this answer. Mantine is given it by
 * `getStyleNonce`; react-remove-scroll, which dialogs use, looks for it under the name that webpack gives it.
 */
export const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''

Object.assign(globalThis, { __webpack_nonce__: nonce })
