package applink

import "testing"

func TestLink(t *testing.T) {
	for _, l := range []Link{
		{"https://192.0.2.1:7332", "claude", "lka_ABC", PinPrefix + "a+/b="},
		{"https://[2001:db8::1]:7332", "claude", "lka_ABC", ""},
		{"https://locket.example", "claude", "lka_ABC", ""},
	} {
		if got, err := Parse(" " + l.String() + "\n"); err != nil || got != l {
			t.Errorf("%s: %+v, %v", l, got, err)
		}
	}
	for _, s := range []string{"", "lka_x", "http://192.0.2.1/#key=lka_x", "https:///#key=lka_x", "https://h/#app=x", "https://h/#key=lka_x&pin=x", "https://h/?key=lka_x",
		"https://h/path#key=lka_x", "https://u:p@h/#key=lka_x", "https://h/#key=%zz"} {
		if l, err := Parse(s); err == nil {
			t.Errorf("%q: %+v", s, l)
		}
	}
}
