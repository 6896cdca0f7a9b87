//! What users do: the mail sessions, their pacing and their tuning.
