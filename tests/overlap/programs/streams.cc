// Files of C++, written and read in the ways that programs use. Run plain and under the layer, it has to do the same.
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

int main()
{
    std::ofstream lines("lines");
    for (int i = 0; i < 20000; i++)
        lines << i << ' ' << i / 7.0 << '\n';
    lines.seekp(100);
    lines << "in the middle" << std::flush;
    std::cout << lines.tellp() << '\n';
    lines.close();

    std::ofstream blocks("blocks", std::ios::binary | std::ios::trunc);
    std::vector<char> block(5000, 'x');
    for (int i = 0; i < 100; i++)
        blocks.write(block.data(), static_cast<std::streamsize>(block.size()));

    std::fstream both("both", std::ios::in | std::ios::out | std::ios::trunc);
    both << "first " << 2 << std::endl;
    both.seekg(0);
    std::string word;
    both >> word;
    std::cout << word << '\n';

    std::wofstream wide("wide");
    for (int i = 0; i < 3000; i++)
        wide << i << L'\n';

    std::ofstream("appended") << "one\n";
    std::ofstream("appended", std::ios::app) << "two\n";
    std::ifstream again("appended");
    while (std::getline(again, word))
        std::cout << word << '\n';
    std::cout << std::ofstream("no/such/directory").good() << '\n';
}
