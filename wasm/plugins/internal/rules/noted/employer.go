package noted

import "github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"

// Employers are words by which one speaks of the firm that one works for.
var Employers = syntax.Set("employer company firm workplace work")

// employersZh are the same in Chinese.
var employersZh = [...]string{"我公司", "我们公司", "我的公司", "我单位", "我们单位", "我的单位", "咱们公司", "咱们单位", "公司给我", "单位给我", "公司让我", "单位让我", "公司允许", "老板让我", "老板允许"}

// ofEmployer reports what is said of an employer that may change.
func (v *view) ofEmployer() bool {
	if syntax.ContainsAny(v.raw, employersZh[:]...) {
		return true
	}
	return v.anyTimes(func(i int) bool {
		return (v.words[i] == "my" || v.words[i] == "our" || v.words[i] == "his" || v.words[i] == "her") && Employers[v.at(i+1)] ||
			v.words[i] == "work" && v.at(i-1) == "at" && v.at(i+1) == ""
	}) > 0
}
