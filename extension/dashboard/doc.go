// Package dashboard is a live page for operators: what is broken, since when, what callers get meanwhile,
// and when it has recovered.
//
//	policy events → journal, changes of breakers, five minutes of each policy and field → ┐
//	registry      → state of breakers, load of bulkheads and limiters                    → ┤ snapshot
//	                                                                                       │
//	GET …/ the page    GET …/stream once a second    GET …/snapshot as JSON  ←─────────────┘
//	POST …/trip, …/reset, for whom [WithControl] lets
//
// [New] makes the handler. It is for operators: whoever may see the page may see the names of policies and
// fields, and how calls fare; put it behind what keeps others out.
package dashboard
