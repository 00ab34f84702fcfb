//! Prints the settings of the library: on each line the environment variable, and the values that it takes.

use postrider_engine::settings;

fn main() {
    for setting in settings::ALL {
        println!("{} {}", setting.name, (setting.values)().join(" "));
    }
}
