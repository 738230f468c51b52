//! The model's plan for the task at hand.
//!
//! The list lives in the session; its newest result in the conversation is its record, from
//! which a resumed session takes it up again.

use crate::{CallScope, Concurrency, Tool, ToolContext, ToolError, ToolOutput, Toolset};
use hermes_conversation::{CallDigest, CallTitle, Guidance, Message, Outcome, Subject, ToolFacts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Plan and track a task of several steps. Call without todos to see the list. Keep one item
/// in_progress, and mark items completed as soon as they are done.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct TodoArgs {
    /// The list, most important first.
    todos: Option<Vec<Change>>,
    /// Update items by id and add new ones, instead of replacing the list.
    #[serde(default)]
    merge: bool,
}

#[derive(Deserialize, JsonSchema)]
struct Change {
    id: String,
    content: Option<String>,
    status: Option<TodoStatus>,
}

/// One item of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    pub id: String,
    pub content: String,
    pub status: TodoStatus,
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
    Cancelled,
}

pub(crate) struct TodoTool;

impl Tool for TodoTool {
    const NAME: &'static str = "todo";
    const TOOLSET: Toolset = Toolset::Todo;
    const FACTS: ToolFacts = ToolFacts {
        reads_only: true,
        result_varies: true,
        is_housekeeping: true,
        title: Some(|arguments| CallTitle::new("📋", "plan", item_count(arguments))),
        digest: CallDigest { subject: Subject::Text(list_size), outcome: Outcome::Size },
        guidance: Some(Guidance::new("For work of three or more steps keep a list with `todo`.")),
        rank: 5,
        ..ToolFacts::DEFAULT
    };
    type Args = TodoArgs;

    /// Two changes of one list must come in order.
    fn concurrency(&self, args: &TodoArgs, _: &ToolContext) -> Concurrency {
        match args.todos {
            None => Concurrency::Free,
            Some(_) => Concurrency::Alone,
        }
    }

    async fn run(&self, args: TodoArgs, cx: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        let mut list = cx.todos_mut();
        if let Some(changes) = args.todos {
            let base = if args.merge { list.clone() } else { Vec::new() };
            *list = changed(base, changes)?;
        }
        Ok(ToolOutput::json(json!({"todos": &*list, "summary": summary(&list)})))
    }
}

fn item_count(arguments: &Value) -> String {
    match arguments["todos"].as_array() {
        Some(todos) => format!("{} item{}", todos.len(), if todos.len() == 1 { "" } else { "s" }),
        None => "list".to_owned(),
    }
}

fn list_size(arguments: &Map<String, Value>) -> String {
    let items = arguments.get("todos").and_then(Value::as_array);
    items.map_or_else(|| "read".to_owned(), |items| format!("{} items", items.len()))
}

/// The list in a stored result of this tool.
pub fn list_in(message: &Message) -> Option<Vec<Todo>> {
    #[derive(Deserialize)]
    struct Stored {
        todos: Vec<Todo>,
    }
    match message {
        Message::Tool(message) if message.tool_name == TodoTool::NAME => {
            serde_json::from_str::<Stored>(message.content.as_text()).ok().map(|stored| stored.todos)
        }
        Message::Tool(_) | Message::User(_) | Message::Assistant(_) => None,
    }
}

fn changed(mut list: Vec<Todo>, changes: Vec<Change>) -> Result<Vec<Todo>, ToolError> {
    for change in changes {
        match list.iter_mut().find(|item| item.id == change.id) {
            Some(item) => {
                item.content = change.content.unwrap_or_else(|| std::mem::take(&mut item.content));
                item.status = change.status.unwrap_or(item.status);
            }
            None => list.push(Todo {
                content: change.content.ok_or_else(|| {
                    ToolError::failed(format!(
                        "item `{}` is new and needs content; the list is unchanged",
                        change.id
                    ))
                })?,
                status: change.status.unwrap_or(TodoStatus::Pending),
                id: change.id,
            }),
        }
    }
    Ok(list)
}

fn summary(list: &[Todo]) -> serde_json::Value {
    let count = |status| list.iter().filter(|item| item.status == status).count();
    json!({
        "total": list.len(),
        "pending": count(TodoStatus::Pending),
        "in_progress": count(TodoStatus::InProgress),
        "completed": count(TodoStatus::Completed),
        "cancelled": count(TodoStatus::Cancelled),
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::Bench;
    use hermes_conversation::{CallId, Message};
    use serde_json::json;
    use std::sync::Arc;

    #[tokio::test]
    async fn the_list_is_replaced_merged_shown_and_restored() {
        let bench = Bench::new();
        let list =
            json!({"todos": [{"id": "1", "content": "a"}, {"id": "2", "content": "b", "status": "pending"}]});
        let made = bench.call("todo", list).await;
        assert_eq!(
            made["summary"],
            json!({"total": 2, "pending": 2, "in_progress": 0, "completed": 0, "cancelled": 0})
        );

        let merge = json!({"merge": true, "todos": [{"id": "1", "status": "completed"}, {"id": "3", "content": "c"}]});
        let merged = bench.call("todo", merge).await;
        assert_eq!(
            merged["todos"],
            json!([
                {"id": "1", "content": "a", "status": "completed"},
                {"id": "2", "content": "b", "status": "pending"},
                {"id": "3", "content": "c", "status": "pending"},
            ])
        );
        assert_eq!(bench.call("todo", json!({})).await, merged);

        let refused = bench.call("todo", json!({"todos": [{"id": "9"}], "merge": true})).await;
        assert!(refused["error"].as_str().unwrap().contains("`9`"), "{refused}");

        let other = Bench::new();
        other.cx.restore(&[
            Arc::new(Message::tool(CallId::new("a"), "todo", "{\"todos\":[]}")),
            Arc::new(Message::tool(CallId::new("b"), "todo", merged.to_string())),
            Arc::new(Message::tool(CallId::new("c"), "todo", "{\"error\":\"x\"}")),
        ]);
        assert_eq!(other.call("todo", json!({})).await, merged);
    }

    #[tokio::test]
    async fn a_wrong_status_is_named() {
        let refused = Bench::new()
            .call("todo", json!({"todos": [{"id": "1", "content": "a", "status": "later"}]}))
            .await;
        let error = refused["error"].as_str().unwrap();
        assert!(error.contains("`todos[0].status` must be one of pending"), "{error}");
    }
}
