package notes

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/locket-dev/locket/memory"
)

// devices matches names that Windows reserves for devices.
var devices = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com\d|lpt\d)$`)

// free returns a path for a new file, made of words of a memory: nothing in them can
// leave the folder, hide the file, or end a link.
func (f *folder) free(dir, title string, id memory.ID) string {
	title, _, _ = strings.Cut(strings.TrimSpace(title), "\n")
	title = strings.Join(strings.Fields(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || strings.ContainsRune(`\/:*?"<>|#^[]%`, c) || c == unicode.ReplacementChar {
			return ' '
		}
		return c
	}, title)), " ")
	if r := []rune(title); len(r) > 45 {
		title = string(r[:45])
		if i := strings.LastIndexByte(title, ' '); i > 20 {
			title = title[:i]
		}
	}
	title = strings.TrimLeft(strings.TrimRight(title, ". "), ". ")
	if title == "" || devices.MatchString(title) {
		title = strings.TrimSpace("Memory " + title)
	}
	text := id.String()
	for _, end := range []string{"", " " + text[:6], " " + text} {
		if name := dir + "/" + title + end + ".md"; !f.taken[strings.ToLower(name)] {
			f.taken[strings.ToLower(name)] = true
			return name
		}
	}
	return dir + "/" + text + ".md"
}
