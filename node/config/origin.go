package config

import (
	"fmt"
	"net/url"
	"reflect"
	"strconv"
)

// OriginKind is the kind of place that a value came from.
type OriginKind string

// The kinds of origins, the weakest first.
const (
	FromDefault OriginKind = "default"
	FromFile    OriginKind = "file"
	FromEnv     OriginKind = "env"
	FromFlag    OriginKind = "flag"
)

// Origin is where a value came from.
type Origin struct {
	Kind OriginKind
	Name string // the file's path, the variable, the flag
	Line int    // of the file, from 1
}

// String returns the place in the form in which a person looks for it: "config.toml:3",
// "LOCKET_ZONE".
func (o Origin) String() string {
	switch o.Kind {
	case FromFile:
		return o.Name + ":" + strconv.Itoa(o.Line)
	case FromEnv, FromFlag:
		return o.Name
	}
	return string(FromDefault)
}

// MarshalText implements encoding.TextMarshaler.
func (o Origin) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Setting is one line of the output of locket config.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // a password in a URL is shown as "xxxxx"
	Origin Origin `json:"origin"`
}

// Loaded is a configuration that knows where its values came from.
type Loaded struct {
	Config
	File    string // the file that was read; empty: none
	origins map[string]Origin
}

// Origin returns where a key's value came from.
func (l *Loaded) Origin(name string) Origin {
	if o, ok := l.origins[name]; ok {
		return o
	}
	return Origin{Kind: FromDefault}
}

// Settings returns every key, in the order of the struct.
func (l *Loaded) Settings() []Setting {
	var list []Setting
	for _, k := range keys() {
		text := k.text(&l.Config)
		if k.kind == "url" {
			text = redact(text)
		}
		list = append(list, Setting{k.name, text, l.Origin(k.name)})
	}
	return list
}

// ForFile returns a key's value as the settings file has it: a text, a list of texts, or a
// boolean. Passwords are not left out.
func (l *Loaded) ForFile(name string) any {
	k, ok := findKey(name)
	if !ok {
		return nil
	}
	switch v := k.of(&l.Config); v.Kind() {
	case reflect.Bool, reflect.Slice:
		return v.Interface()
	case reflect.String:
		return v.String()
	}
	return k.text(&l.Config)
}

// redact removes the password from a URL.
func redact(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "[not a URL]"
	}
	return u.Redacted()
}

// wrong returns the error for a key's value, with the place where it was written.
func (l *Loaded) wrong(name, format string, args ...any) error {
	kind := ErrConfig
	if l.Origin(name).Kind == FromFlag {
		kind = ErrFlag
	}
	return fmt.Errorf("%w: %s: %s: %s", kind, l.Origin(name), name, fmt.Sprintf(format, args...))
}
