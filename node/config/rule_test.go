package config

import (
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestInvalidRules(t *testing.T) {
	for _, bad := range []string{"", "30d", "type:episodic", "type:gossip 30d", "episodic 30d", "type: 30d", "colour:red 30d", "sensitivity:high 30d", "type:core 0d", "type:core soon", "type:core && 3d"} {
		if r, err := parseRule(bad); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %+v, %v", bad, r, err)
		}
	}
	if _, err := ParseRules([]string{"tag:a 1d", "b"}); err == nil {
		t.Error("a bad rule among good ones")
	}
	if r, err := parseRule("tag:next step & type:core  2w "); err != nil || r.Tags[0] != "next step" || r.Types[0] != memory.Core || r.Keep != Duration(14*Day) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRetentionOverrides(t *testing.T) {
	was := Retention{Audio: Keep{Age: Duration(30 * Day)}, Rules: []string{"type:core forever"}}
	r, rules, err := was.With([]string{"retention.audio.age=2w", "retention.rules=type:episodic 90d, tag:a 1d"})
	if err != nil || r.Audio.Age != Duration(14*Day) || len(rules) != 2 || rules[1].Text != "tag:a 1d" {
		t.Errorf("%+v, %+v, %v", r, rules, err)
	}
	if was.Audio.Age != Duration(30*Day) || len(was.Rules) != 1 {
		t.Errorf("what it was made of has changed: %+v", was)
	}
	for _, bad := range []string{"", "wearer=Ann", "retention.audio=2w", "retention.audio.age=soon", "retention.rules=type:gossip 3d"} {
		if _, _, err := was.With([]string{bad}); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
