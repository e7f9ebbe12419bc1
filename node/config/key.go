package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// key is a setting: its dotted name and its field in a Config.
type key struct {
	name  string // "broker.url"
	env   string // "LOCKET_BROKER_URL"
	kind  string // "path", "url", or empty
	index []int  // for reflect.Value.FieldByIndex
}

// keys returns every setting, in the order of the struct.
func keys() []key { return keysOf(reflect.TypeFor[Config](), "", nil) }

func keysOf(t reflect.Type, prefix string, index []int) []key {
	var ks []key
	for i := range t.NumField() {
		f := t.Field(i)
		name, at := prefix+f.Tag.Get("toml"), append(slices.Clone(index), i)
		if f.Type.Kind() == reflect.Struct {
			ks = append(ks, keysOf(f.Type, name+".", at)...)
			continue
		}
		env := "LOCKET_" + strings.ToUpper(strings.ReplaceAll(name, ".", "_"))
		ks = append(ks, key{name, env, f.Tag.Get("kind"), at})
	}
	return ks
}

// Keys returns the names of all settings, in the order of the struct.
func Keys() []string {
	var names []string
	for _, k := range keys() {
		names = append(names, k.name)
	}
	return names
}

func (k key) of(c *Config) reflect.Value { return reflect.ValueOf(c).Elem().FieldByIndex(k.index) }

// parse sets the setting from text, as it is in the environment or a flag.
// Lists are separated by commas.
func (k key) parse(c *Config, s string) error {
	v := k.of(c)
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(s))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		b, err := strconv.ParseBool(s)
		if err != nil {
			return fmt.Errorf("%q: want true or false", s)
		}
		v.SetBool(b)
	case reflect.Slice:
		var list []string
		for item := range strings.SplitSeq(s, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
		v.Set(reflect.ValueOf(list))
	default:
		return fmt.Errorf("%s can't be given as text", v.Type())
	}
	return nil
}

// text returns the setting's value in the form that parse reads.
func (k key) text(c *Config) string {
	v := k.of(c)
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return s.String()
	}
	if v.Kind() == reflect.Slice {
		return strings.Join(v.Interface().([]string), ",")
	}
	return fmt.Sprint(v.Interface())
}

func findKey(name string) (key, bool) {
	ks := keys()
	i := slices.IndexFunc(ks, func(k key) bool { return k.name == name })
	if i < 0 {
		return key{}, false
	}
	return ks[i], true
}
