package rules

import "strings"

// 下, 上 and 本 before 周五, 月底 or 午饭 may end the word before: 记一下周五交报告 is on Friday, and
// not next week; 桌上周五的报告, 版本周五发布.

// endersZh are the characters that make one word with each of these behind them, where nobody
// says 下周 or 上周 after them: 约下周五 and 交上周五的作业 stay as they are.
var endersZh = map[string]string{
	"下": "楼桌台地山乡树私线床底脚旗名眼当手天灯车城月足零以之剩留停坐躺写脱卸丢扔存省攒生立记蹲跪趴余收",
	"上": "早晚桌网路楼身手床墙书山船车班世地街线马会课头脸纸海天表单台本际实以之加赶遇碰关穿戴考爱锁贴合算连挂附坐骑爬跟晨群岸镇",
	"本": "版剧日书课样成根基资标副绘文译",
}

// boundZh reports whether token i ends the word before it.
func boundZh(s sentence, i int) bool {
	w := s.at(i)
	before := s.at(i - 1)
	if i == 0 || before == "" {
		return false
	}
	if w == "下" && before == "一" {
		return !strings.Contains("周期拜十初月第", s.at(i-2)) || s.at(i-2) == "" // 一下, and not 星期一下周
	}
	return strings.Contains(endersZh[w], before)
}
