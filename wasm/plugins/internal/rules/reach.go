package rules

import "strings"

// reached takes "my phone number is 0170 555 0123", "my email is mei@example.org"
// and "my address is 12 Elm Street, Oslo": the value is what was said, to the
// letter.
func (t *talk) reached(c *clause) bool {
	if c.vi >= len(c.words) {
		return false
	}
	from := c.toks[c.words[c.vi].tok].end
	rest := strings.TrimRight(strings.TrimSpace(c.text[from:c.end]), ".! ")
	attr, value := "", ""
	switch c.thing {
	case "phone number", "number", "mobile number", "mobile", "phone", "telephone number", "cell", "cell number", "work number", "home number":
		attr, value = "phone", phoneIn(rest)
	case "email", "e-mail", "email address", "e-mail address", "mail address", "work email":
		attr, value = "email", mailIn(strings.TrimSpace(c.text[from:])) // its stops end no sentence
	case "address", "home address", "postal address":
		attr = "address"
		if strings.ContainsAny(rest, "0123456789") && strings.ContainsRune(rest, ' ') {
			value = rest
		}
	}
	if value == "" {
		return false
	}
	f := t.fact(c, "contact", attr, value, attr != "address", 0.9)
	if f == nil {
		return false
	}
	f.Sensitivity = "private"
	return true
}

// phoneIn is the telephone number that a text begins with: six digits or more.
func phoneIn(s string) string {
	end := len(s) - len(strings.TrimLeft(s, "+0123456789 ()./-"))
	s = strings.TrimRight(s[:end], " ()./-")
	digits := 0
	for _, r := range s {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	if digits < 6 {
		return ""
	}
	return s
}

// mailIn is the mail address that a text begins with.
func mailIn(s string) string {
	s, _, _ = strings.Cut(s, " ")
	s = strings.TrimRight(s, ".,;!")
	name, host, ok := strings.Cut(s, "@")
	if !ok || name == "" || strings.ContainsRune(host, '@') || !strings.Contains(strings.Trim(host, "."), ".") {
		return ""
	}
	return s
}
