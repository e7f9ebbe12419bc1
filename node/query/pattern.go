package query

import (
	"regexp"
	"sync"
)

// pattern compiles an expression when it is first used. Those for questions take some
// milliseconds and 2 MB in all, and most commands ask nothing.
type pattern func() *regexp.Regexp

func lazily(expr string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
