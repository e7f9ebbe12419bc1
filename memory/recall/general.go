package recall

import (
	"strings"
	"sync"
)

// A question words what happened by a general verb or noun: "what event did Ana attend". Whoever told
// of it used others, so such a word counts less of its worth for confidence than one that names a
// thing. It counts even less if no document has it. Both shares were chosen among few values on all of
// LoCoMo's development conversations (docs/recall.md).
const (
	shareGeneral        = .7
	shareGeneralUnknown = .5
)

// generalWords returns the terms of the general words.
var generalWords = sync.OnceValue(func() map[string]bool {
	terms := map[string]bool{}
	for _, w := range strings.Fields(`
accept accompany accomplish according achieve add admire admit advise affect afford agree aim allow announce appear apply appreciate approach approve
argue arrange arrive ask assist associate attempt attend attract avoid base become begin behave believe belong bring call capture care carry cause
change check choose claim come compare complain complete concern confirm connect consider consist contact contain continue contribute convince cope
create deal decide declare decline define deliver depend describe deserve design determine develop differ discover discuss display do emphasize enable
encounter encourage end engage enhance enjoy ensure enter establish exist expand expect experience expire explain explore express face fail fall fear
feature feel find finish fit focus follow force form gain gather get give go grow handle happen hear help highlight hold hope host identify imagine
impact imply improve include increase indicate influence inform initiate inspire intend introduce invite involve join keep know lead learn leave let
like live look lose maintain make manage mark matter mean meet mention mind miss motivate move need notice obtain occur offer open organize own
participate pass perceive perform place plan point possess prefer prepare present prevent proceed produce promise propose protect prove provide pursue
put raise reach react realize receive recommend refer reflect refuse regard relate rely remain remember remind remove reply report represent require
resolve respond result return reveal say see seek seem select send serve set share show sign solve speak specify spend stand start state stay stop
struggle suggest support suppose surprise take talk tell think try turn undergo understand undertake update use utilize value view visit wait want
wish wonder worry
activity aspect certain currently event kind particular purpose reason recent recently role sort specific specifically type way
情况 事情 东西 变化 经历 态度 遇到 处理 打算 负责 介绍 觉得 认为 发现 决定 开始 结束 完成 参加 进行 告诉 提到 建议 推荐 准备 计划 选择 希望 需要 帮助 帮忙 得到 收到 获得
发生 出现 引起 造成 导致 影响 评价 感觉 感受 心情 反应 看法 想法 意见 印象 原因 理由 目的 结果 方式 方法 办法 过程 问题 内容 部分 方面 最近 目前 之后 之前 以后 以前 当时 后来 现在
期间 人员 活动 事件 具体 特别 主要 关于 一起 自己 使用 变成 重新 继续 保持 拥有 提供 解决 面对 表示 表现 描述 形容 用来 来自 属于 位于 安排 要求 同意 拒绝 安慰 改变 采取`) {
		terms[lemma(w)] = true
	}
	return terms
})
