package abi

import "strconv"

// place formats a path as "output.candidates[3].spans[0]".
func place(path []step) string {
	var b []byte
	for i, s := range path {
		if s.name != "" {
			if i > 0 {
				b = append(b, '.')
			}
			b = append(b, s.name...)
		}
		if s.index >= 0 {
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(s.index), 10)
			b = append(b, ']')
		}
	}
	return string(b)
}
