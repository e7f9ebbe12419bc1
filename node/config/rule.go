package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
)

// Rule says how long memories of a type, with a tag, or of a sensitivity are kept, in
// the form that [parseRule] reads.
type Rule struct {
	Text  string
	Types []memory.Type      // empty: any
	Tags  []string           // the memory must have all of them
	Least memory.Sensitivity // this sensitivity or a higher one
	Keep  Duration           // 0: forever
}

// forever is a rule's duration for memories that are never removed.
const forever = "forever"

// parseRule parses conditions and a duration: "type:episodic 90d", "tag:work &
// sensitivity:private 30d" (both must hold; a sensitivity also matches higher ones),
// "tag:family forever".
func parseRule(s string) (r Rule, err error) {
	bad := func(what string) (Rule, error) {
		return Rule{}, fmt.Errorf("%w: rule %q: %s; want such as \"type:episodic 90d\", \"tag:work & sensitivity:private 30d\" or \"tag:family forever\"", memory.ErrInvalid, s, what)
	}
	at := strings.LastIndexAny(strings.TrimSpace(s), " \t")
	if at < 0 {
		return bad("no length of time")
	}
	s = strings.TrimSpace(s)
	conditions, length := strings.TrimSpace(s[:at]), s[at+1:]
	for _, c := range strings.Split(conditions, "&") {
		name, value, ok := strings.Cut(strings.TrimSpace(c), ":")
		if value = strings.TrimSpace(value); !ok || value == "" {
			return bad(fmt.Sprintf("%q is not a condition", c))
		}
		switch strings.TrimSpace(name) {
		case "type":
			if !slices.Contains(memory.Types[:], memory.Type(value)) {
				return bad(fmt.Sprintf("%q is none of the six types", value))
			}
			r.Types = append(r.Types, memory.Type(value))
		case "tag":
			r.Tags = append(r.Tags, value)
		case "sensitivity":
			if err := r.Least.UnmarshalText([]byte(value)); err != nil {
				return bad(err.Error())
			}
		default:
			return bad(fmt.Sprintf("%q is neither type, tag nor sensitivity", name))
		}
	}
	if length != forever {
		d, err := ParseDuration(length)
		if err != nil || d == 0 {
			return bad("want a length of time over 0, or forever")
		}
		r.Keep = d
	}
	r.Text = s
	return r, nil
}

// ParseRules parses several rules. An error names the wrong one.
func ParseRules(texts []string) ([]Rule, error) {
	rules := make([]Rule, len(texts))
	for i, t := range texts {
		var err error
		if rules[i], err = parseRule(t); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// With returns r with some of its settings replaced, and the resulting rules. A
// setting is KEY=VALUE, such as "retention.rules=type:episodic 90d". Errors wrap
// [memory.ErrInvalid].
func (r Retention) With(settings []string) (Retention, []Rule, error) {
	c := Config{Retention: r}
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		k, ok := findKey(name)
		if !ok || !strings.HasPrefix(name, "retention.") {
			return r, nil, fmt.Errorf("%w: %q is not a setting of retention; want such as retention.rules=type:episodic 90d", memory.ErrInvalid, name)
		}
		if err := k.parse(&c, value); err != nil {
			return r, nil, fmt.Errorf("%w: %s: %w", memory.ErrInvalid, name, err)
		}
	}
	rules, err := ParseRules(c.Retention.Rules)
	return c.Retention, rules, err
}
