package abi

import (
	"strconv"
	"strings"
)

// Code says why a message was refused. The numbers are part of the contract.
type Code uint8

const (
	CodePlugin    Code = 1  // the plugin's own error: it could not do its work
	CodeTruncated Code = 2  // the message ends too early
	CodeTrailing  Code = 3  // bytes after the message
	CodeType      Code = 4  // a CBOR type that the field does not have
	CodeForm      Code = 5  // indefinite length, tag, simple value, or a number not in its shortest form
	CodeLimit     Code = 6  // too long, too many, too deep
	CodeUTF8      Code = 7  // a text that is not UTF-8
	CodeDuplicate Code = 8  // a key twice
	CodeUnknown   Code = 9  // a key or word that is not in the contract
	CodeNumber    Code = 10 // NaN, infinite, or out of the field's range
	CodeVersion   Code = 11 // another version of the contract
	CodeRange     Code = 12 // a span or range outside of its text or sound
	CodeGrant     Code = 13 // something that the manifest was not granted
)

var codeWords = [...]string{
	CodePlugin:    "failed",
	CodeTruncated: "truncated",
	CodeTrailing:  "trailing bytes",
	CodeType:      "wrong type",
	CodeForm:      "form not allowed",
	CodeLimit:     "over the limit",
	CodeUTF8:      "not UTF-8",
	CodeDuplicate: "duplicate key",
	CodeUnknown:   "unknown",
	CodeNumber:    "number out of range",
	CodeVersion:   "version of the contract",
	CodeRange:     "out of range",
	CodeGrant:     "not granted",
}

// String describes the code.
func (c Code) String() string {
	if int(c) < len(codeWords) && codeWords[c] != "" {
		return codeWords[c]
	}
	return "code " + strconv.Itoa(int(c))
}

// Error says why a message was refused, and where in it.
type Error struct {
	Code   Code
	Place  string // "output.candidates[3].spans[0]"
	Offset int    // byte at which decoding stopped; 0 if the bytes were well-formed
	Text   string // further details, or empty
}

func (e *Error) Error() string {
	s := e.Code.String()
	if e.Place != "" {
		s = e.Place + ": " + s
	}
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.Offset > 0 {
		s += " (byte " + strconv.Itoa(e.Offset) + ")"
	}
	return s
}

// AppendError appends a plugin's own error: {1: code, 2: text}.
func AppendError(dst []byte, code Code, text string) []byte {
	if len(text) > MaxError-16 {
		text = text[:MaxError-16]
	}
	e := encoder{b: dst}
	m := e.open()
	e.int(1, int64(code))
	e.str(2, strings.ToValidUTF8(text, "?"))
	e.close(m)
	return e.b
}

// DecodeError reads what AppendError wrote, or says why it can't.
func DecodeError(b []byte) (code Code, text string, err error) {
	d := decoder{b: b}
	d.push("error")
	if len(b) > MaxError {
		return 0, "", d.fail(CodeLimit)
	}
	var seen uint64
	for n := d.mapHead(); n > 0 && d.err == nil; n-- {
		switch d.key(&seen) {
		case 1:
			if v := d.int(); v > 0 && v <= 255 {
				code = Code(v)
			} else {
				d.fail(CodeNumber)
			}
		case 2:
			text = d.string(MaxError)
		default:
			d.fail(CodeUnknown)
		}
	}
	if err := d.end(); err != nil {
		return 0, "", err
	}
	if code == 0 {
		return 0, "", d.fail(CodeNumber)
	}
	return code, text, nil
}
