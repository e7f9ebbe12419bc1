package setupcmd

import (
	"testing"
)

func TestLocaleLanguage(t *testing.T) {
	for locale, want := range map[string]string{"de_DE.UTF-8": "de", "zh_CN.GB18030": "zh", "fil_PH": "fil", "C": "en", "POSIX": "en", "": "en", "C.UTF-8": "en"} {
		if got := localeLanguage(func(name string) string { return map[string]string{"LANG": locale}[name] }); got != want {
			t.Errorf("%q: %s, want %s", locale, got, want)
		}
	}
	if got := localeLanguage(func(name string) string { return map[string]string{"LANG": "de_DE", "LC_ALL": "fr_FR"}[name] }); got != "fr" {
		t.Error("LC_ALL is the stronger one:", got)
	}
}
