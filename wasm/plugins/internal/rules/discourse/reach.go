package discourse

import "strings"

// MailIn is the mail address that a text begins with.
func MailIn(s string) string {
	s, _, _ = strings.Cut(s, " ")
	s = strings.TrimRight(s, ".,;!")
	name, host, ok := strings.Cut(s, "@")
	if !ok || name == "" || strings.ContainsRune(host, '@') || !strings.Contains(strings.Trim(host, "."), ".") {
		return ""
	}
	return s
}
