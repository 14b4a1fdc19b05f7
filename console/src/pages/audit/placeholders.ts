/**
 * Names of values that a sentence is shown with: who did it, what it was done to, and when. They are elements, such as
 * links, so the sentence only says where they stand.
 */
export const who = '{who}'
export const it = '{it}'
export const when = '{when}'
