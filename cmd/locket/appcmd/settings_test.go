package appcmd

import (
	"strings"
	"testing"
)

// An entry is added to an assistant's settings, and every other byte of them stays.
func TestWithMember(t *testing.T) {
	for _, c := range []struct{ was, want string }{
		{`{}`, `{"servers":{"locket":1}}`},
		{" {\n} ", " {\"servers\":{\"locket\":1}\n} "},
		{"{ \"theme\" : 1e3 ,\"a\":[ 1 ]\n}\n", "{ \"theme\" : 1e3 ,\"a\":[ 1 ],\"servers\":{\"locket\":1}\n}\n"},
		{`{"servers": {"other": {"locket": 2}}, "z": "<&>"}`, `{"servers": {"other": {"locket": 2},"locket":1}, "z": "<&>"}`},
		{`{"servers": {"locket" : { "command": "old" } ,"x":null}}`, `{"servers": {"locket" : 1 ,"x":null}}`},
		{`{"servers":null,"z":0}`, `{"servers":{"locket":1},"z":0}`},
		{`{"servers":{"locket":2},"servers":{"locket":3}}`, `{"servers":{"locket":2},"servers":{"locket":1}}`},
		{`{"\u0073ervers":{}}`, `{"\u0073ervers":{"locket":1}}`},
	} {
		got, err := withMember([]byte(c.was), []string{"servers", "locket"}, []byte("1"))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s %v, want %s", c.was, got, err, c.want)
		}
	}
	for _, was := range []string{`[]`, `"servers"`, `{"servers": [{}]}`, `{"servers": "none"}`} {
		if got, err := withMember([]byte(was), []string{"servers", "locket"}, []byte("1")); err == nil || !strings.Contains(err.Error(), "is not an object") {
			t.Errorf("%s: %s %v", was, got, err)
		}
	}
}
