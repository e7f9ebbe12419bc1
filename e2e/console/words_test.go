package console

import (
	"regexp"
	"strings"
	"testing"
)

// ownWords returns each text of the page's own, including those for screen readers. Text from
// outside is in bdi, and text to be typed is in code and pre.
const ownWords = `(() => {
	const all = [];
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, {acceptNode: n =>
		n.nodeType === 1 && n.matches("bdi, code, pre, svg, script, textarea, kbd, .names-list, .graph-panel") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT});
	for (let n = walk.nextNode(); n; n = walk.nextNode()) if (n.nodeType === 3 && n.data.trim()) all.push(n.data.trim());
	return all;
})()`

// An internal term, an id, or a raw value of a program.
var (
	inside = regexp.MustCompile(`(?i)\b(assertions?|epochs?|dots?)\b`)
	bareID = regexp.MustCompile(`\b[0-9a-f]{16,}\b`)
	value  = regexp.MustCompile(`\b[a-z]+_[a-z_]+\b|\b(undefined|null|NaN)\b|\[object `)
	key    = regexp.MustCompile(`^[a-z][A-Za-z]+(\.[A-Za-z]+)+$`)
)

// No page in either language shows an internal term, a bare id, a raw value of a program, or the
// key of a translation.
func TestNoInternalTerms(t *testing.T) {
	all := pages(t)
	for _, l := range []look{{"en-GB", 1440, 1000, false}, {"zh-CN", 1440, 1000, false}} {
		t.Run(l.String(), func(t *testing.T) {
			b := open(t, l)
			for _, p := range all {
				b.visit(p.path, p.until)
				b.settled()
				if text := js[string](b, "document.body.innerText"); inside.MatchString(text) || bareID.MatchString(text) {
					t.Errorf("%s: %q", p.name, append(inside.FindAllString(text, 3), bareID.FindAllString(text, 3)...))
				}
				words := js[[]string](b, ownWords)
				if len(words) < 5 {
					t.Errorf("%s has no words: %q", p.name, words)
				}
				for _, w := range words {
					if value.MatchString(w) || key.MatchString(w) {
						t.Errorf("%s: %.120q", p.name, w)
					}
				}
				if text := strings.Join(words, " "); l.lang == "zh-CN" && !regexp.MustCompile(`\p{Han}`).MatchString(text) {
					t.Errorf("%s says nothing in Chinese: %.200q", p.name, text)
				}
			}
		})
	}
}

// widest returns the paragraphs whose lines have too many characters for easy reading.
const widest = `[...document.querySelectorAll("p")].filter(p => p.checkVisibility() && p.innerText.length > 130).map(p => {
	const range = document.createRange();
	range.selectNodeContents(p);
	const lines = new Set([...range.getClientRects()].map(r => Math.round(r.bottom / 8))).size;
	return [Math.round(p.innerText.length / Math.max(1, lines)), p.innerText.slice(0, 60)];
}).filter(([n]) => n > 130).map(([n, text]) => n + " characters: " + text)`

// On a screen of 3,840 by 2,160 px, in both themes, nothing is wider than the screen, and no
// line is too long to read.
func TestLargeScreen(t *testing.T) {
	all := pages(t)
	for _, l := range []look{{"en-GB", 3840, 2160, false}, {"zh-CN", 3840, 2160, true}} {
		t.Run(l.String(), func(t *testing.T) {
			b := open(t, l)
			for _, p := range all {
				b.visit(p.path, p.until)
				b.settled()
				b.fits(p.name)
				for _, line := range js[[]string](b, widest) {
					t.Errorf("%s: %s", p.name, line)
				}
				if p.name == "devices" || p.name == "today" {
					b.shoot(p.name + "-" + l.String())
				}
			}
		})
	}
}
