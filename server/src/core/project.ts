/** The project's folder, as far above server/src/core/ as above server/dist/bundle/, where the build puts all code. */
export const PROJECT = new URL('../../../', import.meta.url)
