package config

import (
	"errors"
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestRulesThatAreWrong(t *testing.T) {
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
