package serve

import "log/slog"

// Secret is a passphrase or a revealed value. Only its JSON form shows it.
type Secret string

const hidden = "[hidden]"

// String implements fmt.Stringer.
func (Secret) String() string { return hidden }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return hidden }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
