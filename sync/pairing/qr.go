package pairing

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/skip2/go-qrcode"
)

// Link returns the content of the QR code: locket:pair?relay=URL&code=CODE.
func Link(relay string, code Code) string {
	return "locket:pair?" + url.Values{"relay": {relay}, "code": {code.String()}}.Encode()
}

// ParseLink parses a link, or just a code; then relay is empty.
func ParseLink(s string) (relay string, code Code, err error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), "locket:pair?")
	if !ok {
		code, err = parseCode(s)
		return "", code, err
	}
	q, err := url.ParseQuery(rest)
	if err != nil {
		return "", "", fmt.Errorf("%w: %v", ErrCode, err)
	}
	code, err = parseCode(q.Get("code"))
	return q.Get("relay"), code, err
}

// QR draws a text as a QR code for a terminal, with two rows of the picture
// in each line. It is dark on light, whatever the terminal's colours are.
func QR(text string) (string, error) {
	q, err := qrcode.New(text, qrcode.Low)
	if err != nil {
		return "", fmt.Errorf("qr code: %w", err)
	}
	bits := q.Bitmap()
	dark := func(y, x int) bool { return y < len(bits) && bits[y][x] }
	var b strings.Builder
	for y := 0; y < len(bits); y += 2 {
		b.WriteString("\x1b[30;47m")
		for x := range bits[y] {
			switch up, down := dark(y, x), dark(y+1, x); {
			case up && down:
				b.WriteRune('█')
			case up:
				b.WriteRune('▀')
			case down:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String(), nil
}
