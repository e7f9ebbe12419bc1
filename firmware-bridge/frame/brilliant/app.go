package brilliant

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"
)

// app is Locket's app. It was run in Lua 5.3 with a mock of the glasses' library, and not on
// glasses.
//
//go:embed app.lua
var app string

// Started is what the app prints when it runs.
const Started = "Locket app started"

// mark returns the app's first line on the glasses, which identifies the app.
func mark() string {
	sum := sha256.Sum256([]byte(app))
	return "-- " + hex.EncodeToString(sum[:6])
}

// Line is a line for the glasses, and what they print once it was run. It may be written again if
// the answer did not come.
type Line struct{ Source, Answer string }

// Ask is the line that tests whether the glasses have exactly this app; they have it if they print
// its Answer.
func Ask() Line {
	return Line{fmt.Sprintf(`local f=frame.file.open('locket.lua','r')local s=f:read()f:close()print(s=='%s' and 'same' or 'other')`, mark()), "same"}
}

// Begin is the line that starts the app. It is not run twice.
func Begin() Line { return Line{"require('locket')", Started} }

// Upload returns the lines, each of at most most bytes, that put the app on the glasses: its pieces
// go into a table, and then into the file.
func Upload(most int) (lines []Line) {
	add := func(format string, args ...any) {
		answer := fmt.Sprint("done ", len(lines)+1)
		lines = append(lines, Line{fmt.Sprintf(format, args...) + "print('" + answer + "')", answer})
	}
	room := most - len("L[1000]=''print('done 1000')")
	add("L={}")
	n := 0
	var part strings.Builder
	flush := func() {
		if part.Len() > 0 {
			n++
			add("L[%d]='%s'", n, part.String())
			part.Reset()
		}
	}
	escape := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`)
	for _, r := range mark() + "\n" + app {
		s := escape.Replace(string(r))
		if part.Len()+len(s) > room {
			flush()
		}
		part.WriteString(s)
	}
	flush()
	add("f=frame.file.open('locket.lua','w')for i=1,#L do f:write(L[i])end f:close()")
	add("L=nil f=nil ")
	return lines
}
