package plugincmd

import "strings"

func CutSetting(s string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(s, "=")
	return key, value, ok && key != ""
}
