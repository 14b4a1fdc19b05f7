import { t } from '@lingui/core/macro'
import {
  type CSSVariablesResolver,
  type MantineColorsTuple,
  createTheme,
  localStorageColorSchemeManager,
} from '@mantine/core'

// Shade 7 carries white text at 4.5:1 or more in every scale, shade 2 is text on the dark surfaces, shade 8 text on
// tints of shade 0 and 1. The library's own scales do not hold this for yellow, green and grey.
const teal: MantineColorsTuple = [
  '#eaf6f3',
  '#d3ece6',
  '#a8dacf',
  '#7ac6b6',
  '#4dae9c',
  '#2a9381',
  '#177c6b',
  '#0f6557',
  '#0b5247',
  '#073d35',
]
const gray: MantineColorsTuple = [
  '#f8f7f4',
  '#f1efea',
  '#e6e3dc',
  '#d5d1c8',
  '#b9b4a9',
  '#8f8a7f',
  '#736e64',
  '#5c5850',
  '#45423b',
  '#2c2a26',
]
const dark: MantineColorsTuple = [
  '#e9e7e2',
  '#cfccc5',
  '#b0ada5',
  '#8a877f',
  '#4a4944',
  '#3a3935',
  '#2a2926',
  '#201f1d',
  '#181715',
  '#100f0e',
]
const red: MantineColorsTuple = [
  '#fcf0ee',
  '#f8dedb',
  '#f2b8b1',
  '#e98f85',
  '#de665a',
  '#cf4437',
  '#bb3226',
  '#a3271c',
  '#861d14',
  '#65140d',
]
const yellow: MantineColorsTuple = [
  '#fdf5e3',
  '#f9e8c2',
  '#f1d08a',
  '#e6b552',
  '#d49a2a',
  '#b17c15',
  '#95660c',
  '#7d5407',
  '#644204',
  '#4a3002',
]
const green: MantineColorsTuple = [
  '#eef6ea',
  '#dcedd4',
  '#b8dba9',
  '#92c77d',
  '#6cb054',
  '#4f9638',
  '#3d7d29',
  '#31681f',
  '#265317',
  '#1a3c0f',
]
const blue: MantineColorsTuple = [
  '#edf3f9',
  '#d8e5f2',
  '#b0cbe5',
  '#86aed6',
  '#5c90c5',
  '#3d74b0',
  '#2d6099',
  '#234f80',
  '#1a3e67',
  '#112c4b',
]

const SCALES = ['teal', 'gray', 'red', 'yellow', 'green', 'blue'] as const
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', sans-serif"

const BASE = createTheme({
  colors: { teal, gray, dark, red, yellow, green, blue },
  primaryColor: 'teal',
  primaryShade: { light: 7, dark: 7 },
  white: '#ffffff',
  black: '#23211e',
  fontFamily: FONT,
  fontFamilyMonospace: "ui-monospace, 'Cascadia Code', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  fontSizes: { xs: '0.8125rem', sm: '0.9375rem', md: '1rem', lg: '1.125rem', xl: '1.25rem' },
  headings: {
    fontFamily: FONT,
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.75rem', lineHeight: '1.25' },
      h2: { fontSize: '1.25rem', lineHeight: '1.35' },
      h3: { fontSize: '1.0625rem', lineHeight: '1.4' },
      h4: { fontSize: '1rem', lineHeight: '1.45' },
    },
  },
  radius: { xs: '0.1875rem', sm: '0.3125rem', md: '0.5rem', lg: '0.75rem', xl: '1.5rem' },
  defaultRadius: 'md',
  respectReducedMotion: true,
  cursorType: 'pointer',
})

const COLOR_SCHEME_KEY = 'hourbank-color-scheme'
export const colorSchemeManager = localStorageColorSchemeManager({ key: COLOR_SCHEME_KEY })

/** In the language on the screen: parts of the library have names that are read out. */
export function theme() {
  // The head of a dialog is a `<header>`, which would count as a second banner of the page.
  const dialog = {
    closeButtonProps: { 'aria-label': t`Close` },
    attributes: { header: { role: 'presentation' } },
    // A dialog that fades out would still swallow keys: shortcuts wait until no dialog is open.
    transitionProps: { exitDuration: 0 },
  }
  return createTheme({
    ...BASE,
    components: {
      Modal: {
        defaultProps: { ...dialog, centered: true, overlayProps: { backgroundOpacity: 0.45 } },
      },
      Drawer: { defaultProps: { ...dialog, position: 'right' } },
      Badge: { defaultProps: { size: 'lg', variant: 'light', radius: 'sm', tt: 'none', fw: 600 } },
      // At the size below, the target is smaller than 24 px.
      Checkbox: { defaultProps: { size: 'md' } },
      Radio: { defaultProps: { size: 'md' } },
      Skeleton: { defaultProps: { animate: true } },
      PasswordInput: { defaultProps: { visibilityToggleButtonProps: { 'aria-label': t`Show or hide the password` } } },
      Tooltip: { defaultProps: { events: { hover: true, focus: true, touch: false } } },
    },
  })
}

/** Colours that the library would derive too faint: hints, borders of fields, tinted backgrounds and their text. */
export const cssVariablesResolver: CSSVariablesResolver = () => {
  const light: Record<string, string> = {
    '--mantine-color-body': '#fbfaf8',
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    '--mantine-color-error': 'var(--mantine-color-red-7)',
    '--mantine-color-default-border': 'var(--mantine-color-gray-3)',
    '--mantine-color-disabled-color': 'var(--mantine-color-gray-6)',
    '--hb-panel': '#ffffff',
    '--hb-rail': 'var(--mantine-color-gray-1)',
    '--hb-line': 'var(--mantine-color-gray-2)',
    '--hb-field-line': 'var(--mantine-color-gray-5)',
    '--hb-focus': 'var(--mantine-color-teal-7)',
  }
  const darkScheme: Record<string, string> = {
    '--mantine-color-body': 'var(--mantine-color-dark-8)',
    '--mantine-color-dimmed': 'var(--mantine-color-dark-2)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': 'var(--mantine-color-red-3)',
    '--mantine-color-anchor': 'var(--mantine-color-teal-3)',
    '--mantine-color-disabled-color': 'var(--mantine-color-dark-3)',
    '--hb-panel': 'var(--mantine-color-dark-7)',
    '--hb-rail': 'var(--mantine-color-dark-7)',
    '--hb-line': 'var(--mantine-color-dark-5)',
    '--hb-field-line': 'var(--mantine-color-dark-3)',
    '--hb-focus': 'var(--mantine-color-teal-3)',
  }
  for (const name of SCALES) {
    const shade = (index: number) => `var(--mantine-color-${name}-${index})`
    Object.assign(light, {
      [`--mantine-color-${name}-filled`]: shade(7),
      [`--mantine-color-${name}-filled-hover`]: shade(8),
      [`--mantine-color-${name}-light`]: shade(1),
      [`--mantine-color-${name}-light-hover`]: shade(2),
      [`--mantine-color-${name}-light-color`]: shade(8),
      [`--mantine-color-${name}-outline`]: shade(7),
      [`--mantine-color-${name}-text`]: shade(7),
    })
    Object.assign(darkScheme, {
      [`--mantine-color-${name}-filled`]: shade(7),
      [`--mantine-color-${name}-filled-hover`]: shade(6),
      [`--mantine-color-${name}-light`]: `color-mix(in srgb, ${shade(7)} 45%, var(--mantine-color-dark-8))`,
      [`--mantine-color-${name}-light-hover`]: `color-mix(in srgb, ${shade(7)} 60%, var(--mantine-color-dark-8))`,
      [`--mantine-color-${name}-light-color`]: shade(1),
      [`--mantine-color-${name}-outline`]: shade(3),
      [`--mantine-color-${name}-text`]: shade(3),
    })
  }
  return { variables: {}, light, dark: darkScheme }
}
