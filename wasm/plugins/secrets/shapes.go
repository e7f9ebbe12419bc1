package secrets

import (
	"strings"
)

// prefixes of keys that their issuers publish for scanners (GitHub secret
// scanning's list of partner patterns); n is the least number of characters that
// follow.
var prefixes = [...]struct {
	prefix, label string
	n             int
}{
	{"sk-ant-", "Anthropic API key", 20}, {"sk-proj-", "OpenAI API key", 20}, {"sk-", "API key", 16}, {"sk_live_", "Stripe key", 16},
	{"sk_test_", "Stripe test key", 16}, {"rk_live_", "Stripe key", 16}, {"ghp_", "GitHub token", 20}, {"gho_", "GitHub token", 20},
	{"ghs_", "GitHub token", 20}, {"ghu_", "GitHub token", 20}, {"ghr_", "GitHub token", 20}, {"github_pat_", "GitHub token", 20},
	{"glpat-", "GitLab token", 16}, {"AKIA", "AWS access key", 16}, {"ASIA", "AWS access key", 16}, {"AIza", "Google API key", 30},
	{"ya29.", "Google access token", 20}, {"xoxb-", "Slack token", 10}, {"xoxp-", "Slack token", 10}, {"xoxa-", "Slack token", 10},
	{"xoxr-", "Slack token", 10}, {"xoxs-", "Slack token", 10}, {"npm_", "npm token", 30}, {"hf_", "Hugging Face token", 20},
	{"dop_v1_", "DigitalOcean token", 30}, {"SG.", "SendGrid key", 30}, {"AGE-SECRET-KEY-1", "age key", 30},
}

// shapes finds the values that need no cue.
func shapes(text string, toks []token) []found {
	var all []found
	add := func(start, end int, secret, entry, label string) {
		all = append(all, found{value: value{start: start, end: end, secret: secret}, known: true,
			cue: cue{noun: entry, entry: entry, label: label}})
	}
	pem(text, add)
	for i, t := range toks {
		raw := text[t.start:t.end]
		for _, p := range prefixes {
			if len(raw) < len(p.prefix)+p.n {
				continue
			}
			if rest, ok := strings.CutPrefix(raw, p.prefix); ok && keyText(rest) {
				add(t.start, t.end, raw, "key", p.label)
				break
			}
		}
		if strings.HasPrefix(raw, "eyJ") && strings.Count(raw, ".") == 2 && len(raw) > 40 && keyText(raw) {
			add(t.start, t.end, raw, "key", "JSON web token")
		}
		if from, to := passwordIn(raw); from < to {
			add(t.start+from, t.start+to, raw[from:to], "password", "password for "+host(raw[to+1:]))
		}
		if i > 0 && toks[i-1].s == "bearer" && len(raw) >= 16 && keyText(raw) && digitsOf(raw) != "" {
			add(t.start, t.end, raw, "key", "bearer token")
		}
		if named(t.s) && i+2 < len(toks) && (toks[i+1].s == "=" || toks[i+1].s == ":") && toks[i+1].start == t.end {
			if v := text[toks[i+2].start:toks[i+2].end]; len(v) >= 8 && keyText(v) {
				add(toks[i+2].start, toks[i+2].end, v, "key", strings.ToLower(raw))
			}
		}
		if t.kind == 'n' || t.kind == 'x' {
			numbers(text, toks, i, add)
		}
		if len(raw) >= 4 && (t.kind == 'x') {
			iban(text, toks, i, add)
		}
	}
	return all
}

// passwordIn returns the place of the password in a URL, "postgres://ana:p@ss@db/app"; none: 0, 0.
// The password ends at the last @ before the first /, or, if it contains a / itself, at the first @.
func passwordIn(url string) (from, to int) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || scheme == "" {
		return 0, 0
	}
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		at = strings.IndexByte(rest, '@')
	}
	colon := strings.IndexByte(rest, ':')
	if colon <= 0 || at <= colon+1 || at > len(authority) && digitsOf(authority) == authority[min(colon+1, len(authority)):] {
		return 0, 0 // "https://host:8080/@ana"
	}
	return len(scheme) + 3 + colon + 1, len(scheme) + 3 + at
}

// named reports whether a variable's name suggests a secret.
func named(s string) bool {
	if !strings.Contains(s, "_") {
		return false
	}
	for _, w := range [...]string{"secret", "token", "password", "passwd", "api_key", "apikey", "access_key", "private_key"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func host(s string) string {
	if k := strings.IndexAny(s, "/:?"); k >= 0 {
		return s[:k]
	}
	return s
}

func keyText(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.' || c == '=' || c == '+' || c == '/') {
			return false
		}
	}
	return true
}

// pem finds a private key block.
func pem(text string, add func(start, end int, secret, entry, label string)) {
	const begin, end = "-----BEGIN ", "-----END "
	for from := 0; ; {
		i := strings.Index(text[from:], begin)
		if i < 0 {
			return
		}
		i += from
		head, _, _ := strings.Cut(text[i+len(begin):], "-----")
		from = i + len(begin)
		if len(head) > 40 || !strings.Contains(head, "PRIVATE KEY") {
			continue
		}
		stop := len(text)
		if k := strings.Index(text[i:], end); k >= 0 {
			k += i + len(end)
			if e := strings.Index(text[k:], "-----"); e >= 0 {
				stop = k + e + 5
			}
		}
		add(i, stop, text[i:stop], "key", strings.ToLower(head))
		from = stop
	}
}

// numbers finds cards, Chinese identity numbers, and US social security numbers, whose digits may
// be grouped by spaces and hyphens.
func numbers(text string, toks []token, i int, add func(start, end int, secret, entry, label string)) {
	if i > 0 && toks[i-1].kind == 'n' && toks[i].start == toks[i-1].end+1 {
		return // inside a longer run
	}
	digits, k := "", i
	for k < len(toks) && (toks[k].kind == 'n' || k == i) && len(digits) < 20 && (k == i || toks[k].start == toks[k-1].end+1) {
		if strings.ContainsAny(toks[k].s, "./:,") {
			break
		}
		digits += digitsOf(toks[k].s)
		k++
	}
	if k == i {
		return
	}
	start, end := toks[i].start, toks[k-1].end
	raw := text[start:end]
	switch n := len(digits); {
	case k == i+1 && len(raw) == 18 && chineseID(raw):
		add(start, end, raw, "national_id", "Chinese identity number")
	case toks[i].kind != 'n':
	case n >= 13 && n <= 19 && cardIssuer(digits) && luhn(digits):
		add(start, end, digits, "card", "card ending in "+digits[n-4:])
	case n == 9 && len(raw) == 11 && (raw[3] == '-' && raw[6] == '-' || raw[3] == ' ' && raw[6] == ' ') && ssn(digits) && socialCue(toks, i):
		add(start, end, raw, "national_id", "social security number")
	case n == 9 && ssn(digits) && socialCue(toks, i):
		add(start, end, raw, "national_id", "social security number")
	}
}

func socialCue(toks []token, i int) bool {
	for k := max(0, i-8); k < i; k++ {
		if toks[k].s == "ssn" || toks[k].s == "social" {
			return true
		}
	}
	return false
}

// ssn: no area 000, 666 or 9xx, no group 00, no serial 0000 (SSA, 2011).
func ssn(d string) bool {
	return d[:3] != "000" && d[:3] != "666" && d[0] != '9' && d[3:5] != "00" && d[5:] != "0000"
}

// cardIssuer accepts only the first digits that payment networks use (ISO/IEC 7812): Visa,
// Mastercard, American Express and Diners, Discover and UnionPay, JCB.
func cardIssuer(d string) bool {
	switch d[0] {
	case '4', '5':
		return true
	case '6':
		return d[1] == '0' || d[1] == '2' || d[1] == '4' || d[1] == '5'
	case '3':
		return d[1] == '4' || d[1] == '7' || d[1] == '0' || d[1] == '6' || d[1] == '8' || d[1] == '5'
	case '2':
		return d >= "2221" && d < "2721"
	}
	return false
}

func luhn(d string) bool {
	sum := 0
	for i := range len(d) {
		n := int(d[len(d)-1-i] - '0')
		if i&1 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

// chineseID checks GB 11643-1999: 17 digits with a birth date, and a check character by ISO 7064
// mod 11-2.
func chineseID(s string) bool {
	weights := [...]int{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2}
	sum := 0
	for i, w := range weights {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		sum += w * int(s[i]-'0')
	}
	last := s[17]
	if last == 'x' {
		last = 'X'
	}
	month, day := s[10:12], s[12:14]
	return s[0] != '0' && (s[6:8] == "19" || s[6:8] == "20") && month >= "01" && month <= "12" && day >= "01" && day <= "31" &&
		"10X98765432"[sum%11] == last
}

// iban reads ISO 13616: two letters, two check digits, 11 to 30 more, in one
// run or in groups of four, whose value mod 97 is 1.
func iban(text string, toks []token, i int, add func(start, end int, secret, entry, label string)) {
	said := false // lower case only if the text says IBAN
	for k := max(0, i-4); k < i; k++ {
		said = said || toks[k].s == "iban"
	}
	first := text[toks[i].start:toks[i].end]
	if said {
		first = strings.ToUpper(first)
	}
	if len(first) < 4 || !upper(first[0]) || !upper(first[1]) || !digit(first[2]) || !digit(first[3]) {
		return
	}
	s := ""
	for k := i; k < len(toks) && len(s) < 34 && (k == i || toks[k].start == toks[k-1].end+1); k++ {
		raw := text[toks[k].start:toks[k].end]
		if said {
			raw = strings.ToUpper(raw)
		}
		if k > i && len(first) != 4 || len(raw) > 4 && k > i {
			break
		}
		for j := range len(raw) {
			if !upper(raw[j]) && !digit(raw[j]) {
				return
			}
		}
		s += raw
		if (k == i || len(raw) <= 4) && len(s) >= 15 && len(s) <= 34 && mod97(s[4:]+s[:4]) == 1 && (k+1 >= len(toks) || toks[k+1].kind != 'n' || toks[k+1].start != toks[k].end+1) {
			add(toks[i].start, toks[k].end, s, "iban", "IBAN of "+s[:2])
			return
		}
	}
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
func digit(c byte) bool { return c >= '0' && c <= '9' }

func mod97(s string) int {
	n := 0
	for i := range len(s) {
		if c := s[i]; upper(c) {
			n = (n*100 + int(c-'A') + 10) % 97
		} else {
			n = (n*10 + int(c-'0')) % 97
		}
	}
	return n
}
